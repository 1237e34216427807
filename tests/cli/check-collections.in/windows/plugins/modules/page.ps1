#!powershell

#AnsibleRequires -PowerShell ansible_collections.acme.win.plugins.module_utils.Web
#AnsibleRequires -CSharpUtil ..module_utils.Page
