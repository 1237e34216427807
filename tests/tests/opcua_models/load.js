// Loads NodeSet files into an address space of node-opcua, in the order of the arguments. Everything that is printed
// before the last line is a diagnostic.
const { AddressSpace } = require("node-opcua-address-space");
const { generateAddressSpace } = require("node-opcua-address-space/nodeJS");

async function main(files) {
    const space = AddressSpace.create();
    await generateAddressSpace(space, files);
    const namespaces = space.getNamespaceArray().map((namespace) => namespace.namespaceUri);
    space.dispose();
    console.log("LOADED " + namespaces.length);
}

main(process.argv.slice(2)).catch((error) => {
    console.log("FAILED " + error.message);
    process.exit(1);
});
