"""An ssh server of this test's own, on a port of 127.0.0.1, with keys made for it; the client is `ssh` itself."""

import asyncio
import gc
import getpass
import threading
import warnings
from pathlib import Path


class Daemon:
    """An ssh server that runs commands for this user, while the context lasts. `env`: what git needs to reach it."""

    def __init__(self, place):
        self.place = Path(place)
        self.place.mkdir(mode=0o700)
        self.authorized, self.loop = self.place / "authorized", asyncio.new_event_loop()

    def url(self, path):
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{path}"

    def __enter__(self):
        import asyncssh

        place = self.place

        class Server(asyncssh.SSHServer):
            def begin_auth(self, _):
                return True

            def public_key_auth_supported(self):
                return True

            def validate_public_key(self, _, key):
                return key.export_public_key() == (place / "authorized").read_bytes()

        async def run(process):
            pipe = asyncio.subprocess.PIPE
            child = await asyncio.create_subprocess_shell(process.command, stdin=pipe, stdout=pipe, stderr=pipe)
            await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
            process.exit(await child.wait())

        keys = {name: asyncssh.generate_private_key("ssh-ed25519") for name in ("host", "mine")}
        keys["mine"].write_private_key(place / "mine")
        (place / "mine").chmod(0o600)
        self.authorized.write_bytes(keys["mine"].export_public_key())
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        ways = {"server_factory": Server, "process_factory": run, "encoding": None, "server_host_keys": [keys["host"]]}

        async def listen():
            return await asyncssh.listen("127.0.0.1", 0, **ways)

        self.server = asyncio.run_coroutine_threadsafe(listen(), self.loop).result()
        self.port = self.server.get_port()
        options = f"-p {self.port} -i {place}/mine -oUserKnownHostsFile={place}/known -oIdentitiesOnly=yes -F none"
        self.env = {"GIT_SSH_COMMAND": f"ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new {options}"}
        return self

    def __exit__(self, *_):
        async def end():
            self.server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
        with warnings.catch_warnings():  # asyncssh leaves coroutines that no other test is to collect
            warnings.simplefilter("ignore")
            gc.collect()
