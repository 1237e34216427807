"""A program on top of the generated package `registry`: it lists, shows, publishes and reads back.

Arguments: the address of the registry, a token, and an archive of org.acme.Web 1.0.0. Each step prints a line.
"""

import hashlib
import io
import sys

from registry import AuthenticatedClient, Client
from registry.api.default import (
    get_blobs_sha256_digest as blob,
    get_v1_packages as packages,
    get_v1_packages_name as package,
    get_v1_packages_name_versions_version as release,
    get_v1_whoami as whoami,
    put_v1_packages_name_versions_version as publish,
)
from registry.types import File

NEWEST = "pkgres 1.1"
base, token, path = sys.argv[1:]
with open(path, "rb") as file:
    archive = file.read()


def body(content):
    return File(payload=io.BytesIO(content))


def names(client):
    """The names of all packages, page by page."""
    marker, found = None, []
    while True:
        more = {} if marker is None else {"marker": marker}
        page = packages.sync(client=client, limit=1, **more)
        found += [summary.name for summary in page.packages]
        marker = page.next_marker
        if marker is None:
            return found


reader = Client(base_url=base)
# An error is a model, too.
unknown = package.sync_detailed("org.acme.Web", client=reader)
print("show", unknown.status_code.value, unknown.parsed.errors[0].code.value)
refused = publish.sync_detailed("org.acme.Web", "1.0.0", client=reader, body=body(archive))
print("publish", refused.status_code.value, refused.parsed.errors[0].code.value)

writer = AuthenticatedClient(base_url=base, token=token)
who = whoami.sync(client=writer)
print("whoami", who.owner, [scope.value for scope in who.scopes])
created = publish.sync_detailed(
    "org.acme.Web", "1.0.0", client=writer, body=body(archive), openstack_api_version=NEWEST
)
print("publish", created.status_code.value, created.parsed.name, created.parsed.version, created.parsed.warnings)
digest = created.parsed.sha256
print("digest", digest == hashlib.sha256(archive).hexdigest())
again = publish.sync_detailed("org.acme.Web", "1.0.0", client=writer, body=body(archive))
print("publish", again.status_code.value)

print("list", names(reader))
shown = package.sync("org.acme.Web", client=reader)
print("show", shown.name, [(version.version, version.yanked) for version in shown.versions], shown.updated.tzinfo)
record = release.sync("org.acme.Web", "1.0.0", client=reader)
print("requirements", record.require)
print("read back", blob.sync(digest, client=reader).payload.read() == archive)
