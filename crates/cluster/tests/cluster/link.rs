//! Data of a cluster behind a symbolic link.

use super::*;

#[tokio::test]
async fn data_on_another_disk_are_used_through_their_link() {
    let dir = temp_dir();
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
    let elsewhere = dir.path().join("disk");
    std::fs::rename(dir.path().join("postgres"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, dir.path().join("postgres")).unwrap();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    cluster.stop().await;
}
