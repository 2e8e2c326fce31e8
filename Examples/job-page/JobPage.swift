import ArgumentParser
import Operation
import PostService

@main
struct JobPage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job-page",
    abstract: "Shows jobs of a server, asking it as often as it wants to be asked, until they are done."
  )

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 30

  @Flag(help: "Asks at a fixed interval, whatever the answer is, so that the checks have to fail.")
  var atFixedInterval = false

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    let jobs = JobArchive { transcript.say(.server, $0) }
    let server = LoopbackServer { try await jobs.answer($0) }
    do {
      let service = JobService(address: try await server.start(), followsValue: !self.atFixedInterval)
      try await Story(transcript: transcript, jobs: jobs, service: service).play()
    } catch {
      transcript.fail("the story ended with an error: \(error.inWords)")
    }
    await server.stop()
    guard transcript.close() else { throw ExitCode.failure }
  }
}
