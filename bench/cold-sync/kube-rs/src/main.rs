//! Syncs a kube-rs store of dynamic objects with a streamed list, once, and prints what it cost.
use std::time::Instant;

use futures::{StreamExt, pin_mut};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::{WatchStreamExt, reflector, reflector::ObjectRef, watcher};
use rand::Rng;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).expect("the number of objects").parse()?;
    let start = Instant::now();
    let client = kube::Client::try_default().await?;
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("bench.example.com", "v1", "Website"), "websites");
    let api: Api<DynamicObject> = Api::all_with(client, &kind);
    let writer = reflector::store::Writer::<DynamicObject>::new(kind.clone());
    let store = writer.as_reader();
    let stream = reflector(writer, watcher(api, watcher::Config::default().streaming_lists())).default_backoff();
    pin_mut!(stream);
    while let Some(event) = stream.next().await {
        if let watcher::Event::InitDone = event? {
            break;
        }
    }
    store.wait_until_ready().await?;
    let seconds = start.elapsed().as_secs_f64();
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let mut random = rand::rng();
    for _ in 0..1000 {
        let n = random.random_range(0..count);
        let key = ObjectRef::new_with(&format!("website-{n:05}"), kind.clone()).within(&format!("cold-sync-{}", n % 10));
        let object = store.get(&key).expect("an object of this name");
        assert_eq!(object.data["spec"]["number"], serde_json::json!(n));
    }
    let cpu = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    println!(
        "{}",
        serde_json::json!({
            "seconds": seconds,
            "cpuSeconds": cpu(usage.ru_utime) + cpu(usage.ru_stime),
            "peakRssBytes": usage.ru_maxrss * 1024,
            "objects": store.len(),
        })
    );
    Ok(())
}
