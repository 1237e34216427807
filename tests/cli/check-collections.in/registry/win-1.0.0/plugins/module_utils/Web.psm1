Export-ModuleMember -Function Get-Page
