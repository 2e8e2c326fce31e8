import ArgumentParser
import Operation
import PostService

@main
struct Feed: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "A feed and the page of a post: an edit shows on both at once, and pulling down asks for one page."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Names no entities, so that the checks have to fail.")
  var withoutEntities = false

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let posts = Newsroom { transcript.say(.server, $0) }
    let server = LoopbackServer { try await posts.answer($0) }
    do {
      let timeline = Timeline(address: try await server.start(), namesEntities: !self.withoutEntities)
      try await Story(transcript: transcript, newsroom: posts, timeline: timeline).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
