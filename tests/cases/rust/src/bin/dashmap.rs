//! A map that checks in one call and acts in another: each is under the lock of the map's part, both are not.
use dashmap::DashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::thread;

/// Without hashes that differ from run to run.
type Map = DashMap<&'static str, i32, BuildHasherDefault<DefaultHasher>>;

fn add(map: &Map, by: i32) {
    foretrace::atomic!("yes check then act", {
        let old = map.get("k").map(|value| *value).unwrap_or(0);
        map.insert("k", old + by);
    });
    foretrace::atomic!("no one call that does both", {
        map.entry("n").and_modify(|value| *value += by).or_insert(by);
    });
}

fn main() {
    let map = Arc::new(Map::with_hasher_and_shard_amount(BuildHasherDefault::default(), 2));
    map.insert("k", 0);
    map.insert("n", 0);
    let threads: Vec<_> = [10, 20]
        .into_iter()
        .map(|by| {
            let map = map.clone();
            thread::spawn(move || add(&map, by))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", *map.get("n").unwrap());
}
