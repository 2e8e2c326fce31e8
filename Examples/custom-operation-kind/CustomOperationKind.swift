import ArgumentParser
import Foundation
import Operation
import PostService

@main
struct CustomOperationKind: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "custom-operation-kind",
    abstract: "Loads a discussion branch by branch with operations of a kind of its own, over HTTP."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Leaves the retries out, so that the checks have to fail.")
  var withoutRetries = false

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let server = PostServer(comments: .discussion(), latency: .milliseconds(10)) { transcript.say(.server, "\($0)") }
    do {
      let api = PostAPI(baseURL: try await server.start())
      try await Discussion(transcript: transcript, server: server, api: api, retries: !self.withoutRetries).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
