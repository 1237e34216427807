def more():
    pass
