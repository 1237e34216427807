"""A Keystone that knows only who somebody is.

The tests of Murano log in with a user's name and a password. This server answers them with tokens of a registry, which
it is given, and with a catalog of services in which the registry is the application catalog.

    python3 keystone.py REGISTRY USER=TOKEN...

It prints its address, and ends with its standard input. The password of every user is `secret`.
"""

import http.server
import json
import sys
import threading

REGISTRY = sys.argv[1].rstrip("/")
TOKENS = dict(user.split("=", 1) for user in sys.argv[2:])
DOMAIN = {"id": "default", "name": "Default"}


def described(user):
    """The description of a user's token, with the catalog of services."""
    interfaces = ["public", "internal", "admin"]

    def service(kind, url):
        endpoints = [
            {"id": f"{kind}-{interface}", "interface": interface, "region": "RegionOne", "region_id": "RegionOne", "url": url}
            for interface in interfaces
        ]
        return {"id": kind, "name": kind, "type": kind, "endpoints": endpoints}

    return {
        "token": {
            "methods": ["password"],
            "user": {"id": user, "name": user, "domain": DOMAIN, "password_expires_at": None},
            "project": {"id": f"project-of-{user}", "name": f"project-of-{user}", "domain": DOMAIN},
            "roles": [{"id": "member", "name": "member"}],
            "is_domain": False,
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": "2999-01-01T00:00:00.000000Z",
            "catalog": [service("application-catalog", REGISTRY), service("identity", f"{BASE}/v3")],
        }
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, headers=()):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def fail(self, status, title):
        self.answer(status, {"error": {"code": status, "title": title, "message": title}})

    def do_GET(self):
        version = {
            "id": "v3.14",
            "status": "stable",
            "updated": "2020-04-07T00:00:00Z",
            "links": [{"rel": "self", "href": f"{BASE}/v3/"}],
            "media-types": [],
        }
        path = self.path.rstrip("/")
        if path == "":
            self.answer(300, {"versions": {"values": [version]}})
        elif path == "/v3":
            self.answer(200, {"version": version})
        elif path == "/v3/auth/tokens":
            users = [user for user, token in TOKENS.items() if token == self.headers.get("X-Subject-Token")]
            if users:
                self.answer(200, described(users[0]))
            else:
                self.fail(404, "Not Found")
        else:
            self.fail(404, "Not Found")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.rstrip("/") != "/v3/auth/tokens":
            self.fail(404, "Not Found")
            return
        user = json.loads(body)["auth"]["identity"]["password"]["user"]
        name = user.get("name") or user.get("id")
        if name in TOKENS and user["password"] == "secret":
            self.answer(201, described(name), [("X-Subject-Token", TOKENS[name])])
        else:
            self.fail(401, "Unauthorized")

    def log_message(self, *_):
        pass


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
BASE = f"http://127.0.0.1:{SERVER.server_port}"
threading.Thread(target=SERVER.serve_forever, daemon=True).start()
print(BASE, flush=True)
sys.stdin.read()
