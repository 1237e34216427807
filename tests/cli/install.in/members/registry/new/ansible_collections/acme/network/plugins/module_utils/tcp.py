"""TCP connections."""

import socket


def connect(host, port):
    """Opens a connection."""
    return socket.create_connection((host, port))
