//! Measured matrices: the file format, mistakes in it, and the matrix of 2018.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::{fs, path::PathBuf};

use lab::{CityId, Gaps, World, targets};

fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

const CITIES: &str = "id,city,country_region,lat,lon\n\
    0,Limassol,\"Cyprus, Eurasia\",34.7,33.0\n\
    1,Athens,\"Greece, Eurasia\",38.0,23.7\n\
    2,Oslo,\"Norway, Eurasia\",59.9,10.7\n";

#[test]
fn reads_cities_and_times() {
    let times = "src,dst,min,avg,max,mdev\n0,1,20,25.5,30,2\n1,0,20,24.0,30,1\n1,2,40,45,50,1\n";
    let world =
        World::measured(written(&[("cities.csv", CITIES), ("rtt_ms.csv", times)]).path()).unwrap();
    assert_eq!(world.cities()[0].country, "CY");
    assert!((world.rtt_ms(CityId::new(0), CityId::new(1)) - 24.0).abs() < 1e-9);
    assert!((world.rtt_ms(CityId::new(2), CityId::new(0)) - 69.0).abs() < 1e-9);
    assert!((world.jitter_ms(CityId::new(0), CityId::new(1)) - 2.0).abs() < 1e-9);
    assert_eq!(world.gaps(), Gaps { mirrored: 1, bridged: 1, unknown: 0 });
}

#[test]
fn mistakes_are_named() {
    let empty = written(&[]);
    let message = World::measured(empty.path()).unwrap_err().to_string();
    assert!(message.contains("cities.csv; give the folder"), "{message}");

    let stranger = written(&[
        ("cities.csv", CITIES),
        ("rtt_ms.csv", "src,dst,min,avg,max,mdev\n0,7,1,1,1,0\n"),
    ]);
    let message = World::measured(stranger.path()).unwrap_err().to_string();
    assert!(message.contains("names city 7, but there are only 3"), "{message}");

    let gap = written(&[("cities.csv", "id,city,country_region,lat,lon\n1,Oslo,Norway,1,1\n")]);
    let message = World::measured(gap.path()).unwrap_err().to_string();
    assert!(message.contains("city 1 stands where city 0"), "{message}");
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn the_matrix_of_2018_is_complete() {
    let dir =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/latency/oracle-2018");
    let world = World::measured(&dir).unwrap();
    assert_eq!(world.cities().len(), 241);
    assert!(world.cities().iter().all(|city| city.country != "ZZ"));
    assert_eq!(world.gaps(), Gaps { mirrored: 477, bridged: 18, unknown: 0 });

    let targets = targets(&dir.join("targets.csv.gz")).unwrap();
    assert_eq!(targets.len(), 265_184);
    assert!(targets.iter().all(|target| target.city.get() < world.cities().len()));
}
