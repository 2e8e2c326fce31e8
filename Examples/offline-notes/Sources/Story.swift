import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A check of the story has failed.
struct StoryError: Error, CustomStringConvertible {
  let description: String
}

/// Writes notes with and without a server, kills the program twice, and compares what the server has in the end.
struct Story {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "offline-notes-\(UUID().uuidString)"
  )

  func play() async throws {
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: self.folder) }
    let server = NoteServer()
    let address = try await server.start()

    say("The server is there:")
    try await self.edit(address, "bread", "milk").endsWell()
    try self.expect(await server.notes, ["bread", "milk"])

    say("The server is away, and the program is killed:")
    await server.stop()
    let first = try self.edit(address, "eggs", "salt", "tea")
    try await first.says(#"3 not sent yet: ["bread", "milk", "eggs", "salt", "tea"]"#)
    await first.kill()

    say("It is started again, still without the server, and killed again:")
    let second = try self.edit(address, "jam")
    try await second.says(#"4 not sent yet: ["bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await second.kill()

    say("The server is back:")
    _ = try await server.start()
    try await self.edit(address).endsWell()
    let notes = await server.notes
    await server.stop()
    try self.expect(notes, ["bread", "milk", "eggs", "salt", "tea", "jam"])
  }

  private func edit(_ address: URL, _ texts: String...) throws -> Child {
    let database = self.folder.appendingPathComponent("notes.sqlite").path
    return try Child(["edit", database, address.absoluteString] + texts)
  }

  private func expect(_ notes: [String], _ expected: [String]) throws {
    guard notes == expected else { throw StoryError(description: "the server has \(notes), and not \(expected)") }
  }
}

/// This program, started once more.
private final class Child: Sendable {
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

  /// Waits until the program says a line.
  func says(_ expected: String) async throws {
    var last = "nothing"
    for await line in self.lines {
      say("  \(line)")
      if line == expected { return }
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
