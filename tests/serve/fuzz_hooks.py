"""What the fuzzing client has to know beside the description: things that exist, archives, and media types."""

import hashlib
import json
import os

import schemathesis
from hypothesis import strategies

with open(os.environ["PKGRES_FUZZ_ARCHIVE"], "rb") as file:
    ARCHIVE = file.read()

with open(os.environ["PKGRES_FUZZ_ARTIFACT"], "rb") as file:
    ARTIFACT = file.read()

# Values of parameters that lead to something. Others lead nowhere nearly always.
KNOWN = {
    "name": ["org.acme.Web", "org.acme.!web", "fuzz", "web"],
    "namespace": ["acme"],
    "file": ["acme-web-1.0.0.tar.gz"],
    "version": ["1.0.0", "9.9.9"],
    "class": ["org.acme.Web", "org.acme.!web"],
    "digest": [hashlib.sha256(ARCHIVE).hexdigest(), hashlib.sha256(ARTIFACT).hexdigest()],
    "id": [hashlib.sha256(ARCHIVE).hexdigest()[:32]],
    "release": ["org.acme.Web", "org.acme.Web.>=1"],
}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces every other value by one that exists. The choice depends on the value alone, so that a run repeats."""
    if case.method.upper() == "DELETE":
        # What exists has to stay.
        return
    for name, value in list((case.path_parameters or {}).items()):
        known = KNOWN.get(name, [])
        chosen = hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).digest()
        if known and chosen[0] % 2:
            case.path_parameters[name] = known[chosen[1] % len(known)]


def as_json(context, value):
    """A patch is JSON with a media type of its own."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


schemathesis.serializer("application/murano-packages-json-patch")(as_json)

schemathesis.openapi.media_type(
    "application/zip",
    strategies.one_of(strategies.just(ARCHIVE), strategies.binary(max_size=200)),
)
