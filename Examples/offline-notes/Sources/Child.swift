import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// This program, started once more.
final class Child: Sendable {
  // Safe, although `Process` is not annotated: one task at a time uses it.
  private nonisolated(unsafe) let process = Process()
  private let lines: AsyncStream<String>
  /// The code with which the program has ended.
  private let ends: AsyncStream<Int32>

  init(_ arguments: [String]) throws {
    let output = Pipe()
    self.process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    self.process.arguments = arguments
    self.process.standardOutput = output
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    (self.lines, self.ends) = (lines, ends)
    self.process.terminationHandler = { process in
      end.yield(process.terminationStatus)
      end.finish()
    }
    try self.process.run()
    let reader = output.fileHandleForReading
    Thread.detachNewThread {
      var rest = Data()
      while case let data = reader.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: 10) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
    }
  }

  /// Waits until the program says a line, or warns of something.
  func says(_ expected: String, isWarning: Bool = false) async throws {
    var last = "nothing"
    for await line in self.lines {
      say("  \(line)")
      if isWarning ? line.hasPrefix("warning: \(expected): ") : line == expected { return }
      last = line
    }
    throw StoryError(description: "the program ended with \"\(last)\" and did not say \"\(expected)\"")
  }

  /// Waits until the program has ended well.
  func endsWell() async throws {
    for await line in self.lines { say("  \(line)") }
    let code = await self.ends.first { _ in true }
    guard code == 0 else { throw StoryError(description: "the program ended with the code \(code ?? -1)") }
  }

  /// Ends the program with a signal that it cannot handle.
  func kill() async {
    #if canImport(Glibc)
      _ = Glibc.kill(self.process.processIdentifier, SIGKILL)
    #elseif canImport(Darwin)
      _ = Darwin.kill(self.process.processIdentifier, SIGKILL)
    #endif
    _ = await self.ends.first { _ in true }
  }
}
