#if os(Linux)
  import Foundation
  import OperationMemoryPressure

  /// A folder with files like those of the kernel, which is removed with its last reference.
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

    /// The paths to the fake process file system, without variables of a service manager.
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

    /// Replaces a file with another one, as an editor does.
    func replace(_ name: String, with text: String) throws {
      try self.write(text, to: name + ".new")
      guard rename(self.path(name + ".new"), self.path(name)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func read(_ name: String) throws -> String {
      // By a handle, because FoundationEssentials leaks a buffer when it reads the contents of an empty file.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: self.path(name)))
      defer { try? file.close() }
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }

    func remove(_ name: String) throws {
      try FileManager.default.removeItem(atPath: self.path(name))
    }
  }

  extension FakeTree {
    /// Writes the memory of a machine with 1,000 MiB, of which `available` MiB are available.
    func writeMachine(available: Int = 900) throws {
      try self.write("MemTotal: \(1_000 << 10) kB\nMemAvailable: \(available << 10) kB\n", to: "proc/meminfo")
    }

    /// Puts the process into `group` of a unified hierarchy that is mounted at `unified` in this tree.
    func writeUnified(group: String, mountRoot: String = "/") throws {
      try self.write("0::\(group)\n", to: "proc/self/cgroup")
      try self.write(
        "40 31 0:38 \(mountRoot) \(self.root)/unified rw - cgroup2 cgroup2 rw\n",
        to: "proc/self/mountinfo"
      )
      try self.write("cpu memory\n", to: "unified/cgroup.controllers")
    }

    /// Writes the memory files of a group, in MiB.
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
