"""Runs what docs/broken-ranges.md says about Ansible collections, with the published files.

    python3 execute.py SAMPLE WORK_FOLDER
    python3 execute.py SAMPLE WORK_FOLDER PAGE [PAIRS]

needs ansible-core in the same environment, and PyPI, whose `ansible` wheels have the collections. Of each wheel, only
the collections that are needed are fetched, once. A pair is a release and a version that its range allows and that
lacks something. Both are laid out as a tree of collections, and every module of the release is imported:

- with the version that lacks something, an import has to fail for something of the dependency. If it is in a `try`, the
  module is imported nevertheless; then what the page names must not be there;
- with the newest version in the range that the page calls correct, none may.

The first form runs the pairs in SAMPLE again. The second one chooses PAIRS pairs (60), spread over the rows of the page,
runs them, and writes SAMPLE, whose figures the page states.
"""

import functools
import io
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import urllib.request
import zipfile
import zlib

from ansible.galaxy.dependency_resolution.versioning import meets_requirements
from ansible.release import __version__ as ansible_version
from ansible.utils.version import SemanticVersion

INDEX = "https://pypi.org/simple/ansible/"
FIRST, LAST = (6, 0, 0), (14, 5, 0)
# Imports each module whose name is on standard input, and prints what was not found.
IMPORTER = """
import importlib, json, sys
failed = {}
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed[name] = str(error)
    except BaseException:
        pass
json.dump(failed, sys.stdout)
"""


def request(url, first=None, last=None):
    headers = {"Accept": "application/vnd.pypi.simple.v1+json"}
    if first is not None:
        headers["Range"] = f"bytes={first}-{last}"
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
        return answer.read()


@functools.lru_cache
def opened(url, size):
    return Wheel(url, size)


class Wheel:
    """A wheel, of which parts are fetched."""

    def __init__(self, url, size):
        self.url, self.size = url, size
        end = request(url, size - 65_536, size - 1)
        at = end.rindex(b"PK\5\6")
        length, start = struct.unpack("<II", end[at + 12 : at + 20])
        directory = request(url, start, size - 1)
        # zipfile reads a directory whose entries lie further ahead, as long as the offsets are consistent.
        self.entries = sorted(
            zipfile.ZipFile(Part(directory, start, size)).infolist(), key=lambda one: one.header_offset
        )

    def read(self, wanted):
        """The contents of entries, which mostly lie side by side."""
        places = {entry.filename: at for at, entry in enumerate(self.entries)}
        at = sorted(places[entry.filename] for entry in wanted)
        runs = []
        for place in at:
            if runs and place - runs[-1][1] < 64:
                runs[-1][1] = place
            else:
                runs.append([place, place])
        wanted = {entry.filename for entry in wanted}
        for low, high in runs:
            first = self.entries[low].header_offset
            after = self.entries[high + 1].header_offset if high + 1 < len(self.entries) else self.size
            data = request(self.url, first, after - 1)
            for entry in self.entries[low : high + 1]:
                if entry.filename in wanted:
                    yield entry.filename, content(data, entry.header_offset - first, entry)


class Part(io.RawIOBase):
    """The end of a file as if it were whole."""

    def __init__(self, data, start, size):
        self.data, self.start, self.size, self.at = data, start, size, 0

    def seekable(self):
        return True

    def readable(self):
        return True

    def seek(self, offset, whence=0):
        self.at = offset + {0: 0, 1: self.at, 2: self.size}[whence]
        return self.at

    def tell(self):
        return self.at

    def read(self, count=-1):
        begin = self.at - self.start
        end = len(self.data) if count < 0 else begin + count
        found = self.data[begin:end]
        self.at += len(found)
        return found


def content(data, at, entry):
    name, extra = struct.unpack("<HH", data[at + 26 : at + 30])
    begin = at + 30 + name + extra
    stored = data[begin : begin + entry.compress_size]
    return stored if entry.compress_type == zipfile.ZIP_STORED else zlib.decompress(stored, -15)


def rows(page):
    """The rows of the tables: dependency, collection, versions, range, missing names, correct range."""
    dependency = None
    for line in page.read_text().splitlines():
        if line.startswith("### "):
            dependency = line[4:].strip()
        if line.startswith("## OPC"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = dependency and re.fullmatch(r"([\w.]+\.[\w]+) (\S+)(?: to (\S+))?", cells[0])
        if match and len(cells) == 5:
            versions = [version for version in match.groups()[1:] if version]
            lacked = re.findall(r"`([^`]+)`", cells[3])
            yield dependency, match[1], versions, cells[1].strip("`"), lacked, cells[4].strip("`")


def wheels(folder):
    """The address, the size and the collections with their versions of each wheel."""
    known = folder / "wheels.json"
    if known.exists():
        return json.loads(known.read_text())
    found = {}
    for file in json.loads(request(INDEX))["files"]:
        match = re.fullmatch(r"ansible-(\d+)\.(\d+)\.(\d+)-py3-none-any\.whl", file["filename"])
        if match and FIRST <= tuple(map(int, match.groups())) <= LAST:
            found[file["filename"]] = {"url": file["url"], "size": file["size"]}
    known.write_text(json.dumps(found))
    return found


def contents(folder, name, wheel, wanted):
    """The versions of the collections that are wanted in a wheel."""
    known = folder / f"{name}.json"
    if not known.exists():
        archive = opened(wheel["url"], wheel["size"])
        manifest = re.compile(r"ansible_collections/(\w+)/(\w+)/MANIFEST\.json")
        entries = [one for one in archive.entries if manifest.fullmatch(one.filename)]
        entries = [one for one in entries if ".".join(manifest.fullmatch(one.filename).groups()) in wanted]
        versions = {}
        for _, text in archive.read(entries):
            about = json.loads(text)["collection_info"]
            versions[f"{about['namespace']}.{about['name']}"] = about["version"]
        known.write_text(json.dumps(versions))
    return json.loads(known.read_text())


def lay_out(folder, tree, wheel, name, version):
    """A release as a folder of a tree."""
    release = folder / "releases" / f"{name}-{version}"
    if not release.exists():
        archive = opened(wheel["url"], wheel["size"])
        prefix = f"ansible_collections/{name.replace('.', '/')}/"
        entries = [
            one for one in archive.entries if one.filename.startswith(prefix) and one.filename.endswith((".py", ".yml"))
        ]
        partial = folder / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        for path, text in archive.read(entries):
            target = partial / path[len(prefix) :]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        release.parent.mkdir(parents=True, exist_ok=True)
        partial.rename(release)
    place = tree / "ansible_collections" / name.replace(".", "/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(release.resolve())
    return release


def failed_imports(folder, pair, version):
    """What of a version of the dependency the modules of the release do not find."""
    tree = folder / "tree"
    name, dependency, wheels = pair["collection"], pair["dependency"], pair["wheels"]
    release = lay_out(folder, tree, wheels[f"{name} {pair['version']}"], name, pair["version"])
    lay_out(folder, tree, wheels[f"{dependency} {version}"], dependency, version)
    modules = sorted(release.glob("plugins/**/*.py"))
    names = [
        ".".join(("ansible_collections", name, *path.relative_to(release).with_suffix("").parts))
        for path in modules
        if path.name != "__init__.py"
    ]
    failed = not_imported(tree, names)
    prefix = f"ansible_collections.{dependency}."
    return {name: error for name, error in failed.items() if prefix in error}


def is_defined(folder, dependency, name):
    """Whether a module, or a name in one, of a dependency in the tree is there."""
    whole = f"ansible_collections.{dependency}.plugins.{name}"
    module, _, last = whole.rpartition(".")
    code = f"import {module}\nassert hasattr({module}, {last!r})"
    statements = [f"import {whole}", code]
    environment = {"PYTHONPATH": str(folder / "tree"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    runs = [subprocess.run([sys.executable, "-c", one], capture_output=True, env=environment) for one in statements]
    return any(run.returncode == 0 for run in runs)


def not_imported(tree, names):
    """The errors of modules that cannot be imported."""
    run = subprocess.run(
        [sys.executable, "-c", IMPORTER],
        input="\n".join(names),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return json.loads(run.stdout.strip().splitlines()[-1])


def chosen(page, folder, count):
    """Pairs of the page: those with the newest version that a range allows first, then older ones that lack something."""
    table = list(rows(page))
    wanted = {name for row in table for name in row[:2]}
    sources, versions = {}, {}
    for name, wheel in sorted(wheels(folder).items()):
        for collection, version in contents(folder, name, wheel, wanted).items():
            sources.setdefault(f"{collection} {version}", wheel)
            versions.setdefault(collection, set()).add(version)
    pairs = []
    rounds = [(row, root, depth) for depth in range(4) for row in table for root in dict.fromkeys(row[2])]
    for (dependency, collection, _, allowed, lacked, right), root, depth in rounds:
        if len(pairs) == count or f"{collection} {root}" not in sources:
            continue
        in_range = [one for one in versions[dependency] if meets_requirements(one, allowed)]
        in_range.sort(key=SemanticVersion, reverse=True)
        fitting = [one for one in in_range if right != "none" and meets_requirements(one, right)]
        lacking = [one for one in in_range if one not in fitting]
        if depth < len(lacking):
            pair = {"collection": collection, "version": root, "dependency": dependency, "lacking": lacking[depth]}
            pair["fitting"] = fitting[0] if fitting else None
            pair["lacked"] = lacked
            used = [f"{collection} {root}", *(f"{dependency} {one}" for one in (lacking[depth], *fitting[:1]))]
            pair["wheels"] = {release: sources[release] for release in used}
            pairs.append(pair)
    return pairs


def verdict(folder, pair):
    """What happens with the version that lacks something: `fails` or `guarded`. `None` if it is not as the page says."""
    shown = f"{pair['collection']} {pair['version']} with {pair['dependency']} {pair['lacking']}"
    failed = failed_imports(folder, pair, pair["lacking"])
    if failed:
        result = "fails"
        print(f"{shown}: {len(failed)} modules fail, the first: {next(iter(failed.values()))}", flush=True)
    elif not any(is_defined(folder, pair["dependency"], name) for name in pair["lacked"]):
        result = "guarded"
        print(f"{shown}: imports are guarded, and {pair['lacked'][0]} is not there", flush=True)
    else:
        result = None
        print(f"{shown}: NOTHING FAILS", flush=True)
    if pair["fitting"]:
        failed = failed_imports(folder, pair, pair["fitting"])
        if failed:
            result = None
            print(f"{shown}, but with {pair['fitting']}: {failed}", flush=True)
    return result


def main():
    sample, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 3:
        count = int(sys.argv[4]) if len(sys.argv) > 4 else 60
        pairs = chosen(pathlib.Path(sys.argv[3]), folder, count)
        results = [verdict(folder, pair) for pair in pairs]
        wrong = results.count(None) + count - len(pairs)
        lines = [json.dumps(pair | {"result": result}) for pair, result in zip(pairs, results)]
        sample.write_text("".join(line + "\n" for line in lines))
    else:
        pairs = [json.loads(line) for line in sample.read_text().splitlines()]
        wrong = sum(verdict(folder, pair) != pair["result"] for pair in pairs)
    print(f"ansible-core {ansible_version}: {len(pairs)} pairs were executed, {wrong} are not as the page says")
    sys.exit(bool(wrong))


main()
