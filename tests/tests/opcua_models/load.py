# Loads NodeSet files into a server of asyncua, in the order of the arguments. OPC UA itself is built in.
# Without strict mode, asyncua leaves out nodes that a file lists before their parents, as that of DI does.
import asyncio
import sys

from asyncua import Server


async def main(files):
    server = Server()
    await server.init()
    for file in files:
        await server.import_xml(file, strict_mode=False)
    print("LOADED", len(await server.get_namespace_array()))


asyncio.run(main(sys.argv[1:]))
