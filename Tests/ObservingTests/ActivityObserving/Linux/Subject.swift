#if os(Linux)
  import Foundation
  import Glibc
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  /// A separate process that observes its own activity: see `ActivitySubject`.
  final class Subject: Sendable {
    let identifier: pid_t
    private let input: CInt
    private let lines: AsyncStream<String>
    private let hasEnded = Mutex(false)

    init(_ arguments: String...) async throws {
      let (input, output) = (try Ends(), try Ends())
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, input.reader, 0)
      posix_spawn_file_actions_adddup2(&actions, output.writer, 1)
      // A child inherits blocked signals, which threads that run tasks have, and ignored ones, which `nohup` leaves.
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var none = sigset_t()
      sigemptyset(&none)
      posix_spawnattr_setsigmask(&attributes, &none)
      var all = sigset_t()
      sigfillset(&all)
      posix_spawnattr_setsigdefault(&attributes, &all)
      posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
      let words = [Self.path] + arguments
      let pointers = words.map { strdup($0) } + [nil]
      defer { for pointer in pointers { free(pointer) } }
      var identifier: pid_t = 0
      let status = posix_spawn(&identifier, Self.path, &actions, &attributes, pointers, environ)
      close(input.reader)
      close(output.writer)
      (self.identifier, self.input) = (identifier, input.writer)
      let continuation: AsyncStream<String>.Continuation
      (self.lines, continuation) = AsyncStream.makeStream()
      Thread.detachNewThread { [reader = output.reader] in
        Self.read(reader) { continuation.yield($0) }
        continuation.finish()
      }
      try #require(status == 0, "\(Self.path) does not start")
      try await self.expectLines("ready")
    }

    deinit {
      close(self.input)
      if self.identifier > 0, !self.hasEnded.withLock({ $0 }) {
        kill(self.identifier, SIGKILL)
        waitpid(self.identifier, nil, 0)
      }
    }

    /// The program, which is built beside that of the tests.
    private static let path: String = {
      let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
      return (own as NSString).deletingLastPathComponent + "/ActivitySubject"
    }()

    private static func read(_ descriptor: CInt, _ take: (String) -> Void) {
      var rest: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 512)
      while true {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { break }
        rest += buffer.prefix(count)
        while let end = rest.firstIndex(of: 10) {
          take(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeFirst(end + 1)
        }
      }
      close(descriptor)
    }
  }

  // MARK: - Commands and lines

  extension Subject {
    /// Sends a command, and returns the lines until it is done.
    @discardableResult
    func run(_ command: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [String] {
      self.send(command: command)
      return try await self.lines(until: "done \(command)", sourceLocation: sourceLocation)
    }

    /// The lines before the line `end`.
    func lines(until end: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [String] {
      var lines: [String] = []
      while let line = try await self.line(sourceLocation), line != end { lines.append(line) }
      return lines
    }

    /// Sends a command, and does not wait until it is done.
    func send(command: String) {
      let line = command + "\n"
      _ = write(self.input, line, line.utf8.count)
    }

    /// Expects these lines, one after the other.
    func expectLines(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
      for line in lines { try await expect(self.line(sourceLocation), equals: line, sourceLocation: sourceLocation) }
    }

    func line(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> String? {
      try await withTimeLimit("a line of the subject", sourceLocation: sourceLocation) { [lines = self.lines] in
        await lines.first { _ in true }
      }
    }

    func send(_ signal: CInt) {
      kill(self.identifier, signal)
    }

    /// Waits until a signal has stopped the process.
    func stops() async throws {
      let status = try await self.wait(WUNTRACED)
      expect(status & 0xFF, equals: 0x7F, "ended with the status \(status)")
    }

    /// Waits for the end of the process, and returns the signal that ended it, 0 for none.
    func ends() async throws -> CInt {
      let status = try await self.wait(0)
      self.hasEnded.withLock { $0 = true }
      return status & 0x7F
    }

    private func wait(_ options: CInt) async throws -> CInt {
      try await withTimeLimit("a change of the process") { [identifier = self.identifier] in
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            var status: CInt = 0
            waitpid(identifier, &status, options)
            continuation.resume(returning: status)
          }
        }
      }
    }
  }

  /// The ends of a pipe. No other process inherits them.
  private struct Ends {
    let reader: CInt
    let writer: CInt

    init() throws {
      var ends: [CInt] = [-1, -1]
      try #require(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (self.reader, self.writer) = (ends[0], ends[1])
    }
  }
#endif
