import ArgumentParser
import Operation
import PostService

@main
struct Search: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract:
      "A search field: the last text is sent, and what was found before stays on the screen until the answer is there."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Sends each letter, so that the checks have to fail.")
  var withoutDebounce = false

  @MainActor
  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let index = TitleIndex { transcript.say(.server, $0) }
    let server = LoopbackServer { try await index.answer($0) }
    do {
      let address = try await server.start()
      let field = SearchField(address: address, pause: self.withoutDebounce ? .zero : .milliseconds(400))
      try await Story(transcript: transcript, index: index, field: field).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
