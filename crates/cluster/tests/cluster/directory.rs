//! The directory of a cluster: its permissions, and data behind a symbolic link.

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

#[tokio::test]
async fn a_closed_data_directory_of_ours_is_opened_for_the_server_alone() {
    let dir = temp_dir();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    assert_eq!(std::fs::metadata(dir.path()).unwrap().mode() & 0o007, 0, "nobody else got in");
    cluster.stop().await;
}

#[tokio::test]
async fn data_keep_their_user_when_a_better_one_gets_an_account() {
    let dir = temp_dir();
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
    let mut owner = geteuid();
    if owner.is_root() {
        // As if this account had been the only one at the first start.
        let nobody = User::from_name("nobody").unwrap().unwrap();
        owner = nobody.uid;
        let files = [dir.path().join("postgres"), dir.path().join("run")];
        let account = format!("{}:{}", nobody.uid, nobody.gid);
        let given = Command::new("chown").args(["-R", &account]).args(&files).status().unwrap();
        assert!(given.success());
    }
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let server = std::fs::metadata(format!("/proc/{}", postmaster(dir.path()))).unwrap();
    assert_eq!(server.uid(), owner.as_raw());
    cluster.stop().await;
}
