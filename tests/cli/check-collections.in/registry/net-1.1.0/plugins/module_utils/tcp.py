def connect():
    pass


def listen():
    pass
