#if os(Linux)
  import Foundation
  import OperationMemoryPressure

  /// A folder that looks like what the kernel shows, and goes with the test.
  final class FakeTree: Sendable {
    let root: String

    init() throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tree-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      self.root = folder.path
    }

    deinit {
      try? FileManager.default.removeItem(atPath: self.root)
    }

    /// Where the fake process file system is, and no variable is set.
    var paths: LinuxMemoryPaths { LinuxMemoryPaths(procRoot: self.root + "/proc", environment: [:]) }

    func path(_ name: String) -> String { self.root + "/" + name }

    /// Writes a file in place, as the kernel changes its own: a watcher sees a change, not another file.
    func write(_ text: String, to name: String) throws {
      let path = self.path(name)
      let folder = (path as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if !FileManager.default.fileExists(atPath: path) {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
      }
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? file.close() }
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: Data(text.utf8))
    }

    /// Puts another file in the place of one, as an editor does.
    func replace(_ name: String, with text: String) throws {
      try self.write(text, to: name + ".new")
      guard rename(self.path(name + ".new"), self.path(name)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func read(_ name: String) throws -> String {
      // By a handle: FoundationEssentials leaks a buffer for an empty file whose contents it is asked for.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: self.path(name)))
      defer { try? file.close() }
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }

    func remove(_ name: String) throws {
      try FileManager.default.removeItem(atPath: self.path(name))
    }
  }

  extension FakeTree {
    /// A machine with 1,000 MiB of memory and this much of it available.
    func writeMachine(available: Int = 900) throws {
      try self.write("MemTotal: \(1_000 << 10) kB\nMemAvailable: \(available << 10) kB\n", to: "proc/meminfo")
    }

    /// Says that the process is in `group` of a unified hierarchy, mounted at `unified` in this tree.
    func writeUnified(group: String, mountRoot: String = "/") throws {
      try self.write("0::\(group)\n", to: "proc/self/cgroup")
      try self.write(
        "40 31 0:38 \(mountRoot) \(self.root)/unified rw - cgroup2 cgroup2 rw\n",
        to: "proc/self/mountinfo"
      )
      try self.write("cpu memory\n", to: "unified/cgroup.controllers")
    }

    /// Fills in what a group says of its memory, in MiB.
    func writeGroup(_ group: String, current: Int, droppable: Int = 0, max: Int?, high: Int? = nil) throws {
      let folder = "unified\(group)/"
      try self.write("cpu memory\n", to: folder + "cgroup.controllers")
      try self.write("\(current << 20)\n", to: folder + "memory.current")
      try self.write(max.map { "\($0 << 20)\n" } ?? "max\n", to: folder + "memory.max")
      try self.write(high.map { "\($0 << 20)\n" } ?? "max\n", to: folder + "memory.high")
      try self.write("anon 5\ninactive_file \(droppable << 20)\n", to: folder + "memory.stat")
    }

    func writeEvents(_ group: String, high: Int = 0, max: Int = 0, oomKill: Int = 0) throws {
      try self.write(
        "low 0\nhigh \(high)\nmax \(max)\noom 0\noom_kill \(oomKill)\noom_group_kill 0\n",
        to: "unified\(group)/memory.events"
      )
    }
  }
#endif
