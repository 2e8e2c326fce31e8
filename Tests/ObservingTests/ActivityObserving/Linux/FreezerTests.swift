#if os(Linux)
  import Foundation
  import Glibc
  import OperationControlGroups
  import OperationTesting
  import TestFixtures
  import Testing

  /// A process that is frozen with its control group.
  @Suite(.bounded, .enabled(if: FreezableGroup.exists, "no control group can be made and frozen"))
  struct FreezerTests {
    @Test func `A process that is frozen and thawed reports inactive and active`() async throws {
      let group = try #require(FreezableGroup())
      let subject = try await Subject()
      try group.add(subject.identifier)
      // The kernel may report late that the process has joined the group, which is reported as inactive and active,
      // too.
      let begun = try await subject.run("observe")
      expect(begun.first, equals: "active")
      if begun.last == "inactive" { try await subject.expectLines("active") }
      for _ in 0..<3 {
        try await group.freeze()
        // The frozen process reads these commands when it is thawed.
        subject.send(command: "mark")
        subject.send(command: "unmark")
        group.thaw()
        var lines = try await subject.lines(until: "done unmark")
        // The thaw is reported before or after the marks, or between them, and its second value may still be missing.
        while lines.count(where: { $0 == "active" }) < lines.count(where: { $0 == "inactive" }) {
          lines.append(try #require(try await subject.line()))
        }
        expect(lines.count { $0 == "active" }, equals: lines.count { $0 == "inactive" })
        #expect(lines.contains("inactive"))
        expect(lines.last { !$0.hasPrefix("done") }, equals: "active")
      }
      subject.send(SIGKILL)
      _ = try await subject.ends()
    }

    @Test func `A thaw reports inactive and active`() async throws {
      let group = try #require(FreezableGroup())
      let subject = try await Subject()
      try group.add(subject.identifier)
      try await subject.run("observe")
      for _ in 0..<3 {
        try await group.freeze()
        group.thaw()
        try await subject.expectLines("inactive", "active")
      }
      // More values may follow: the kernel may report the freeze and the thaw one after the other, when both are over.
      subject.send(SIGKILL)
      _ = try await subject.ends()
    }
  }

  /// A control group that is removed with its last reference, once the process in it has ended.
  private final class FreezableGroup: Sendable {
    static let exists = FreezableGroup() != nil

    private let path: String

    init?() {
      let mounts = MountPoint.all(parsing: FileText.read("/proc/self/mountinfo") ?? "")
      guard let mount = mounts.last(where: { $0.type == "cgroup2" }) else { return nil }
      self.path = mount.path + "/activity-\(UUID().uuidString)"
      guard mkdir(self.path, 0o755) == 0 else { return nil }
      guard access(self.path + "/cgroup.freeze", W_OK) == 0 else {
        rmdir(self.path)
        return nil
      }
    }

    deinit {
      rmdir(self.path)
    }

    private func write(_ text: String, to file: String) -> Bool {
      let descriptor = open(self.path + "/" + file, O_WRONLY)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
    }

    func add(_ process: pid_t) throws {
      try #require(self.write("\(process)", to: "cgroup.procs"))
    }

    /// Freezes the group, and waits until it is frozen.
    func freeze() async throws {
      let events = open(self.path + "/cgroup.events", O_RDONLY)
      try #require(events >= 0)
      defer { close(events) }
      #expect(self.write("1", to: "cgroup.freeze"))
      try await withTimeLimit("the freeze") {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            while FileText.read(events).map({ KeyedNumbers(parsing: $0)["frozen"] == 1 }) == false {
              var descriptor = pollfd(fd: events, events: CShort(POLLPRI), revents: 0)
              _ = poll(&descriptor, 1, 60_000)
            }
            continuation.resume()
          }
        }
      }
    }

    func thaw() {
      #expect(self.write("0", to: "cgroup.freeze"))
    }
  }
#endif
