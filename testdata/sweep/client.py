# A client on asyncio, written right unless READER is limit: then it has asyncio's longest line, which is 64 KiB.
import asyncio
import json
import os
import subprocess
import sys


class Client:
    async def start(self):
        longest = {} if os.environ.get("READER") == "limit" else {"limit": 1 << 30}
        self.pi = await asyncio.create_subprocess_exec(
            "pi", "--mode", "rpc", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **longest)
        self.records = asyncio.Queue()
        self.seen = []
        self.reader = asyncio.create_task(self.read())

    async def read(self):
        try:
            while line := await self.pi.stdout.readline():
                try:
                    record = json.loads(line.decode(errors="replace"))  # bytes are decoded strictly
                except ValueError:
                    continue  # no record
                if isinstance(record, dict):
                    self.records.put_nowait(record)
        finally:
            self.records.put_nowait(None)

    async def next(self, patience, **members):
        def fits(record):
            return members.items() <= record.items()

        for record in self.seen:
            if fits(record):
                return record
        async with asyncio.timeout(patience):
            while record := await self.records.get():
                self.seen.append(record)
                if fits(record):
                    return record
        raise EOFError("pi has gone")

    async def ask(self, id, **command):
        self.pi.stdin.write(json.dumps({"id": id, **command}).encode() + b"\n")
        return await self.next(3, type="response", id=id)

    async def talk(self):
        try:
            models = await self.ask("1", type="get_available_models")
        except TimeoutError:
            models = await self.ask("2", type="get_available_models")
        assert models["data"]["models"][0]["name"] == "Größe 名前", models
        answer = await self.ask("3", type="prompt", message="hi")
        assert answer["success"], answer
        await self.next(5, type="agent_settled")
        self.pi.terminate()
        try:
            await asyncio.wait_for(self.pi.wait(), 1)
        except TimeoutError:
            self.pi.kill()
            await self.pi.wait()


async def main():
    client = Client()
    await client.start()
    try:
        await client.talk()
    finally:
        if client.pi.returncode is None:
            client.pi.kill()
        await asyncio.gather(client.reader, return_exceptions=True)


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(repr(error))
