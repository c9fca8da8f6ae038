"""Photos behind a web server that takes its time: workers wait for the network."""

import argparse
import io
import multiprocessing
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from photos import IMAGES, photo_folder
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

LATENCY_S = 0.03
CROP = v2.Compose([v2.CenterCrop(64), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)])


class SlowServer(BaseHTTPRequestHandler):
    """Answers every request after a while."""

    photos = [path.read_bytes() for path in sorted(photo_folder().rglob("*.jpg"))]  # noqa: RUF012

    def do_GET(self):
        photo = self.photos[int(self.path[1:])]
        time.sleep(LATENCY_S)
        self.send_response(200)
        self.send_header("Content-Length", str(len(photo)))
        self.end_headers()
        self.wfile.write(photo)

    def log_message(self, *_):
        pass


class RemotePhotos(Dataset):
    def __init__(self, port, count):
        self.url = f"http://127.0.0.1:{port}/"
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        with urllib.request.urlopen(self.url + str(index % IMAGES)) as answer:  # noqa: S310
            photo = Image.open(io.BytesIO(answer.read()))
        photo.draft("RGB", (128, 128))
        return CROP(photo.convert("RGB")), index


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowServer)
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    data = RemotePhotos(server.server_port, 96 * args.workers)  # so that all take as long
    for images, _ in DataLoader(data, batch_size=8, num_workers=args.workers):
        time.sleep(0.0005 * len(images))  # the accelerator
    process.terminate()


if __name__ == "__main__":
    main()
