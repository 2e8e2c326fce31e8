#if os(Linux)
  import OperationControlGroups
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// The groups of a process, and the fraction of their memory that is in use.
  @Suite(.bounded) struct PathTests {
    private let tree: FakeTree

    init() throws {
      self.tree = try FakeTree()
      try self.tree.writeMachine()
    }

    private var groups: MemoryGroups { MemoryGroups(paths: self.tree.paths) }
    private var usage: Double? { MemoryUsage.fraction(in: self.groups, procRoot: self.tree.paths.procRoot) }

    @Test func `A group is found where its hierarchy is mounted, with the groups that contain it`() throws {
      try self.tree.writeUnified(group: "/a/b")
      try self.tree.writeGroup("/a/b", current: 1, max: nil)
      expect(self.groups.unified?.directories, equals: ["unified/a/b", "unified/a", "unified"].map(self.tree.path))
      #expect(self.groups.hasUnifiedMemory)
      expect(self.groups.legacy, equals: nil)
    }

    @Test func `The mounted directory of the hierarchy is not part of the path`() throws {
      try self.tree.writeUnified(group: "/docker/abc/child", mountRoot: "/docker/abc")
      try self.tree.write("cpu\n", to: "unified/child/cgroup.controllers")
      expect(self.groups.unified?.directories, equals: ["unified/child", "unified"].map(self.tree.path))
    }

    @Test(arguments: ["/gone", "/..", "/../other", "/", "//", "/./"])
    func `The mount stands for a group that the process cannot see`(_ group: String) throws {
      try self.tree.writeUnified(group: group)
      expect(self.groups.unified?.directories, equals: [self.tree.path("unified")])
    }

    @Test func `The mount stands for a group outside of the mount's root`() throws {
      try self.tree.writeUnified(group: "/system.slice/x", mountRoot: "/docker/abc")
      expect(self.groups.unified?.directories, equals: [self.tree.path("unified")])
    }

    @Test(arguments: [
      // A container that sees its own hierarchy and that of the host.
      (group: "/", roots: ["/", "/../.."], own: "mount0"),
      (group: "/a", roots: ["/", "/../.."], own: "mount0/a"),
      (group: "/docker/abc/a", roots: ["/docker/abc", "/", "/docker/ab"], own: "mount0/a"),
      // Of equal mounts the last covers the others.
      (group: "/a", roots: ["/", "/", "/b"], own: "mount1/a"),
      (group: "/a", roots: ["/b", "/c"], own: "mount1"),
    ])
    func `Of several mounts, the one that contains the group is used`(
      _ group: String,
      _ roots: [String],
      _ own: String
    ) throws {
      try self.tree.write("4:memory:\(group)\n0::\(group)\n", to: "proc/self/cgroup")
      let mounts = roots.enumerated().map { index, root in
        """
        3\(index) 29 0:36 \(root) \(self.tree.root)/older/mount\(index) rw - cgroup cgroup rw,memory
        4\(index) 29 0:38 \(root) \(self.tree.root)/unified/mount\(index) rw - cgroup2 cgroup2 rw

        """
      }
      try self.tree.write(mounts.joined(), to: "proc/self/mountinfo")
      for index in roots.indices {
        for hierarchy in ["older", "unified"] {
          try self.tree.write("", to: "\(hierarchy)/mount\(index)/a/cgroup.procs")
        }
      }
      expect(self.groups.unified?.own, equals: self.tree.path("unified/\(own)"))
      expect(self.groups.legacy?.own, equals: self.tree.path("older/\(own)"))
    }

    @Test func `A given root is used instead of the mount`() throws {
      try self.tree.writeUnified(group: "/a")
      try self.tree.write("memory\n", to: "elsewhere/a/cgroup.controllers")
      var paths = self.tree.paths
      paths.cgroupRoot = self.tree.path("elsewhere")
      expect(MemoryGroups(paths: paths).unified?.own, equals: self.tree.path("elsewhere/a"))
    }

    @Test func `Without memory in the unified hierarchy, the older one is used`() throws {
      try self.tree.write("4:memory:/pod/me\n0::/\n", to: "proc/self/cgroup")
      try self.tree.write(
        """
        35 31 0:36 / \(self.tree.root)/memory rw - cgroup cgroup rw,memory
        40 31 0:38 / \(self.tree.root)/unified rw - cgroup2 cgroup2 rw

        """,
        to: "proc/self/mountinfo"
      )
      try self.tree.write("cpu io\n", to: "unified/cgroup.controllers")
      try self.tree.write(
        "hierarchical_memory_limit \(100 << 20)\ntotal_inactive_file \(10 << 20)\n",
        to: "memory/pod/me/memory.stat"
      )
      try self.tree.write("\(70 << 20)\n", to: "memory/pod/me/memory.usage_in_bytes")
      #expect(!self.groups.hasUnifiedMemory)
      expect(self.groups.unified?.own, equals: self.tree.path("unified"))
      expect(self.groups.legacy?.own, equals: self.tree.path("memory/pod/me"))
      expect(self.usage, equals: 0.6)
      try self.tree.write("hierarchical_memory_limit 9223372036854771712\n", to: "memory/pod/me/memory.stat")
      expect(self.usage.map { abs($0 - 0.1) < 0.001 }, equals: true)
    }

    @Test func `The tightest limit counts, of the group or of one that contains it`() throws {
      try self.tree.writeUnified(group: "/a/b")
      try self.tree.writeGroup("/a/b", current: 60, droppable: 10, max: 200, high: 100)
      try self.tree.writeGroup("/a", current: 320, droppable: 20, max: 400)
      expect(self.usage, equals: 0.75)
      try self.tree.writeGroup("/a", current: 100, max: nil)
      expect(self.usage, equals: 0.5)
    }

    @Test func `Without a limit below the memory of the machine, that memory counts`() throws {
      try self.tree.writeUnified(group: "/a")
      try self.tree.writeGroup("/a", current: 60, max: nil)
      try self.tree.writeMachine(available: 50)
      expect(self.usage.map { abs($0 - 0.95) < 0.001 }, equals: true)
      try self.tree.writeGroup("/a", current: 60, max: 5_000)
      expect(self.usage.map { abs($0 - 0.95) < 0.001 }, equals: true)
    }

    @Test func `If more memory is reclaimable than in use, nothing is in use`() throws {
      try self.tree.writeUnified(group: "/a")
      try self.tree.writeGroup("/a", current: 10, droppable: 20, max: 100)
      expect(self.usage, equals: 0)
    }

    @Test func `Without files, the memory in use is unknown`() throws {
      let empty = try FakeTree()
      expect(MemoryGroups(paths: empty.paths).unified, equals: nil)
      expect(MemoryUsage.fraction(in: MemoryGroups(paths: empty.paths), procRoot: empty.root), equals: nil)
    }

    @Test func `This machine reports the fraction of its memory in use`() throws {
      let paths = LinuxMemoryPaths(environment: [:])
      let usage = try #require(MemoryUsage.fraction(in: MemoryGroups(paths: paths), procRoot: paths.procRoot))
      #expect((0.0...1.5).contains(usage))
    }
  }
#endif
