import Foundation
import Synchronization

/// A process of the service, as its parent sees it.
final class NodeProcess: Sendable {
  private struct State: Sendable {
    var answers: [String: [CheckedContinuation<[String], Never>]] = [:]
    /// The lines that have come before a caller asked for them.
    var early: [String: [[String]]] = [:]
    var lastNumber = 0
    var notices: [String] = []
    var lonelyRuns = 0
  }

  let name: String
  private let process: Process
  private let input: FileHandle
  private let state = Mutex(State())

  /// Starts a process of this program, and returns when it is ready.
  static func start(
    _ name: String,
    _ connection: String,
    _ upstream: Upstream,
    _ mode: NodeProgram.Mode = .short
  ) async throws -> NodeProcess {
    let node = try NodeProcess(name, connection, upstream, mode)
    _ = await node.line("ready")
    return node
  }

  private init(_ name: String, _ connection: String, _ upstream: Upstream, _ mode: NodeProgram.Mode) throws {
    self.name = name
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["node", name, connection, mode.rawValue]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    (self.process, self.input) = (process, input.fileHandleForWriting)
    Task { [weak self] in
      for await line in lines(of: output.fileHandleForReading) { self?.receive(line, upstream) }
    }
  }

  /// The names of the notices that the process has sent, and their causes.
  var notices: [String] { self.state.withLock { $0.notices } }

  /// How many runs of the process have not asked the backend, or got no answer.
  var lonelyRuns: Int { self.state.withLock { $0.lonelyRuns } }

  func send(_ line: String) {
    try? self.input.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Sends a request, and returns the words of its answer.
  func ask(_ line: String) async -> [String] {
    self.send(line)
    return await self.line(line.split(separator: " ").first.map(String.init) ?? "")
  }

  /// Gets an article: its version, or nil if the request has failed, and the milliseconds that it took.
  func get(_ id: Int) async -> (version: Int?, milliseconds: Double) {
    let number = self.state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    self.send("get \(id) \(number)")
    let words = await self.line("get \(number)")
    return (words.first.flatMap { Int($0) }, words.dropFirst().first.flatMap { Double($0) } ?? 0)
  }

  /// Ends the process without a warning.
  func kill() {
    Foundation.kill(self.process.processIdentifier, SIGKILL)
    self.process.waitUntilExit()
  }

  func end() {
    try? self.input.close()
    self.process.waitUntilExit()
  }

  /// The rest of the next line that begins with some words.
  func line(_ beginning: String) async -> [String] {
    await withCheckedContinuation { continuation in
      let early = self.state.withLock { state -> [String]? in
        if var lines = state.early[beginning], !lines.isEmpty {
          let line = lines.removeFirst()
          state.early[beginning] = lines
          return line
        }
        state.answers[beginning, default: []].append(continuation)
        return nil
      }
      if let early { continuation.resume(returning: early) }
    }
  }

  private func receive(_ line: String, _ upstream: Upstream) {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "upstream":
      guard words.count == 3, let id = Int(words[2]) else { return }
      upstream.receive(id, from: self.name) { [weak self] version in self?.send("answer \(words[1]) \(version)") }
    case "alone": self.state.withLock { $0.lonelyRuns += 1 }
    case "notice": self.state.withLock { $0.notices.append(words.dropFirst().joined(separator: " ")) }
    default:
      let count = words.first == "get" ? 2 : 1
      let (beginning, rest) = (words.prefix(count).joined(separator: " "), Array(words.dropFirst(count)))
      let waiting = self.state.withLock { state -> CheckedContinuation<[String], Never>? in
        if var continuations = state.answers[beginning], !continuations.isEmpty {
          let first = continuations.removeFirst()
          state.answers[beginning] = continuations.isEmpty ? nil : continuations
          return first
        }
        state.early[beginning, default: []].append(rest)
        return nil
      }
      waiting?.resume(returning: rest)
    }
  }
}
