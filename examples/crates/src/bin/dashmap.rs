//! A map in which two threads look for a key and insert it; one of them also goes through all entries.

use dashmap::DashMap;
use std::thread::scope;

fn main() {
    let map = DashMap::with_shard_amount(2);
    scope(|threads| {
        for number in 0..2u32 {
            let map = &map;
            threads.spawn(move || {
                if !map.contains_key("key") {
                    map.insert("key", number);
                }
                *map.entry("sum").or_insert(0) += 1;
                if number == 1 {
                    map.iter().map(|entry| *entry.value()).sum::<u32>();
                }
            });
        }
    });
    println!("{}", map.len());
}
