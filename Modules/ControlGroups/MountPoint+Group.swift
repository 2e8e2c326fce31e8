#if os(Linux)
  extension MountPoint {
    /// The one of a hierarchy's mounts that shows a group; the last one where none does.
    ///
    /// A hierarchy may be mounted several times: a container has its own mount, and perhaps the host's besides, whose root
    /// lies outside of the container's namespace. Of those that hold the group the innermost is nearest to it, and of equal
    /// ones the last covers the others.
    package static func holding(_ group: String, among mounts: [MountPoint]) -> MountPoint? {
      let names = GroupChain.names(in: group)
      var best: (mount: MountPoint, depth: Int)?
      for mount in mounts {
        let root = GroupChain.names(in: mount.root)
        guard names.starts(with: root), root.count >= best?.depth ?? 0 else { continue }
        best = (mount, root.count)
      }
      return best?.mount ?? mounts.last
    }
  }
#endif
