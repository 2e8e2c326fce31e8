import ArgumentParser
import Operation
import PostService

@main
struct Chat: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chat",
    abstract: "Reads a chat room by server-sent events: one connection for all readers, which goes on where it was."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Does not send the last identifier, so that the checks have to fail.")
  var withoutLastEventID = false

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let server = ChatServer { transcript.say(.server, $0) }
    do {
      let room = Room(address: try await server.start(), goesOn: !self.withoutLastEventID)
      try await Story(transcript: transcript, server: server, room: room).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
