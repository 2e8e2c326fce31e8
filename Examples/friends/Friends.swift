import ArgumentParser
import Operation
import PostService

@main
struct Friends: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "friends",
    abstract: "Accepts friend requests that all screens show at once, some of which the server refuses."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Leaves the effects of the mutation out, so that the checks have to fail.")
  var withoutEffects = false

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let people = PeopleArchive(
      ["You", "Ada", "Ben", "Cleo", "Dora", "Eli", "Fay", "Gus"],
      friends: [(1, 2), (2, 6), (2, 7), (3, 4)],
      requests: [6, 7, 8]
    )
    let server = PostServer(people: people, latency: .milliseconds(10)) { transcript.say(.server, "\($0)") }
    do {
      let api = PostAPI(baseURL: try await server.start())
      try await Network(transcript: transcript, server: server, api: api, isOptimistic: !self.withoutEffects).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
