// Loads what docs/broken-ranges.md says about OPC UA models into node-opcua, with the published files.
//
//     node load.js SAMPLE FOLDER
//     node load.js SAMPLE FOLDER PAGE
//
// needs node-opcua-address-space (NODE_PATH), and versions of the npm package node-opcua-nodesets in folders of FOLDER,
// which have the files. An entry is a release of a model, and what a release of a required model lacks:
//
// - with the release that lacks something, node-opcua has to miss a node, and the missing types must not be there;
// - with the correct minimum, it must not miss any node, and the types must be there.
//
// The first form loads the entries of SAMPLE again. The second one finds the releases of the page that FOLDER has, loads
// them, and writes SAMPLE, whose figures the page states.
//
// Releases that lack something are in none of these packages. Another release of the same line is loaded instead
// (`loaded`); main.rs checks that it has the same types.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

/** Loads files in this order, and prints which of the types are there. */
async function load(types, files) {
    const { AddressSpace } = require("node-opcua-address-space");
    const { generateAddressSpace } = require("node-opcua-address-space/nodeJS");
    const space = AddressSpace.create();
    await generateAddressSpace(space, files);
    const found = types.filter((type) => space.findNode("ns=0;" + type));
    space.dispose();
    console.log("LOADED " + JSON.stringify(found));
}

/** How many nodes node-opcua misses in files, and which of the types are there, from a process of its own. */
function loaded(types, files) {
    const run = spawnSync(process.execPath, [__filename, "--load", JSON.stringify(types), ...files], { encoding: "utf8" });
    const lines = (run.stdout + run.stderr).split("\n");
    const result = lines.find((line) => line.startsWith("LOADED "));
    if (run.status !== 0 || !result) {
        throw new Error(lines.join("\n"));
    }
    const missed = lines.filter((line) => /cannot find/i.test(line)).length;
    return { missed, found: JSON.parse(result.slice("LOADED ".length)).length };
}

/** Whether loading an entry shows what the page says. */
function isAsStated(folder, entry) {
    const files = (first) => [first, ...entry.files].map((file) => path.join(folder, file));
    const lacking = loaded(entry.missing, files(entry.loaded_file));
    const correct = loaded(entry.missing, files(entry.correct_file));
    const releases = `${entry.loaded} (${lacking.missed} nodes are missed) and ${entry.correct} (${correct.missed})`;
    console.log(`${entry.model} ${entry.version} with ${entry.required} ${releases}`);
    return lacking.missed > 0 && lacking.found === 0 && correct.missed === 0 && correct.found === entry.missing.length;
}

/** The attributes of an XML tag. */
function attributes(tag) {
    return Object.fromEntries([...tag.matchAll(/(\w+)="([^"]*)"/g)].map((match) => match.slice(1)));
}

/** A release as pkgres writes it: midnight is left out. */
function release(model) {
    return `${(model.Version ?? "").trim()}@${(model.PublicationDate ?? "").replace("T00:00:00Z", "")}`;
}

/** The models in the packages: where the file is, and what it requires. */
function models(folder) {
    const found = [];
    const paths = fs.readdirSync(folder, { recursive: true });
    for (const file of paths.sort(new Intl.Collator("en", { numeric: true }).compare)) {
        if (!/^[^/]+\/nodesets\/[^/]+\.xml$/.test(file)) {
            continue;
        }
        const [, text] = fs.readFileSync(path.join(folder, file), "utf8").match(/<Models>(.*?)<\/Models>/s) ?? [];
        const [model, ...required] = [...(text ?? "").matchAll(/<(?:Required)?Model\b[^>]*>/g)].map(([tag]) => attributes(tag));
        // Release candidates are not on the page.
        if (model && /^\d/.test(model.Version)) {
            const requires = required.map((one) => one.ModelUri);
            found.push({ file, packaged: file.split("/")[0], uri: model.ModelUri, version: release(model), requires });
        }
    }
    return found;
}

/** The rows of the page about models. */
function rows(page) {
    const [, text] = fs.readFileSync(page, "utf8").split("## OPC UA models");
    const tables = text.split("\n").filter((line) => line.startsWith("| `"));
    return tables.map((line) => {
        const [model, requires, lacking, types, correct] = line.slice(2, -2).split(" | ");
        const [, uri, first, last] = model.match(/^`(.*)` (\S+)(?: to (\S+))?$/);
        const [, required] = requires.match(/^`(.*)` /);
        const missing = [...types.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
        return { uri, first, last: last ?? first, required, lacking: lacking.split(", "), missing, correct };
    });
}

/** A model and what it needs beside `apart`, in loading order, or nothing if its package lacks some of it. */
function closure(known, model, apart) {
    const others = model.requires.filter((uri) => uri !== apart);
    const required = others.map((uri) => known.find((one) => one.packaged === model.packaged && one.uri === uri));
    const files = required.map((one) => one && closure(known, one, apart));
    return files.every(Boolean) ? [...new Set([...files.flat(), model.file])] : undefined;
}

/** Whether a release was published in a period, which is given by its first and its last release. */
function isBetween(version, first, last) {
    const date = (one) => one.split("@")[1];
    return date(first) <= date(version) && date(version) <= date(last);
}

/** The line of releases that one belongs to: `1.03`. */
function line(version) {
    return version.split(".").slice(0, 2).join(".").split("@")[0];
}

/** The releases of the page that are in the packages. */
function chosen(folder, page) {
    const known = models(folder);
    const entries = [];
    for (const { uri, first, last, required, lacking, missing, correct } of rows(page)) {
        const own = known.filter((one) => one.uri === uri && isBetween(one.version, first, last));
        const releases = known.filter((one) => one.uri === required);
        const right = releases.find((one) => one.version === correct);
        const instead = releases.find((one) => lacking.some((release) => line(release) === line(one.version)));
        for (const version of right && instead ? new Set(own.map((one) => one.version)) : []) {
            const same = own.filter((one) => one.version === version);
            const files = same.map((one) => closure(known, one, required)).find(Boolean);
            const replaced = lacking.filter((release) => line(release) === line(instead.version));
            const entry = { model: uri, version, required, lacking: replaced, loaded: instead.version, missing, correct };
            if (files) {
                entries.push({ ...entry, loaded_file: instead.file, correct_file: right.file, files });
            }
        }
    }
    return entries;
}

function main([sample, folder, page]) {
    const text = (entries) => entries.map((entry) => JSON.stringify(entry) + "\n").join("");
    const read = () => fs.readFileSync(sample, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const entries = page ? chosen(folder, page) : read();
    const wrong = entries.filter((entry) => !isAsStated(folder, entry));
    if (page) {
        fs.writeFileSync(sample, text(entries));
    }
    console.log(`${entries.length} models were loaded, ${wrong.length} are not as the page says`);
    process.exit(wrong.length > 0 ? 1 : 0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--load") {
    load(JSON.parse(rest[0]), rest.slice(1));
} else {
    main([first, ...rest]);
}
