import ArgumentParser
import Foundation
import Operation
import PostService

@main
struct Quickstart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quickstart",
    abstract: "Shows what operations do, over real HTTP, against a server that fails on purpose."
  )

  @Option(
    help: "A server of yours with posts as dummyjson.com has them; steps that write or inject failures are skipped.",
    transform: { text in
      guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil else {
        throw ValidationError("it is an http or https address, such as http://localhost:8080.")
      }
      return url
    }
  )
  var baseURL: URL?

  @Option(help: "Seconds after which the story is given up as failed.")
  var timeLimit: Int = 15

  func validate() throws {
    guard self.timeLimit > 0 else {
      throw ValidationError("--time-limit is a number of seconds above 0.")
    }
  }

  func run() async throws {
    let transcript = Transcript()
    TimeLimit.start(seconds: self.timeLimit, transcript: transcript)
    // A warning of the library is a mistake of the story.
    OperationWarning.reporter = { transcript.fail("the library warns: \($0)") }
    transcript.title("What operations do, as it happens, over HTTP: seconds, the part of the program, the event.")
    if let baseURL = self.baseURL {
      await self.play(with: PostAPI(baseURL: baseURL), server: nil, transcript: transcript)
    } else {
      let server = PostServer(archive: try PostArchive.bundled()) { transcript.say(.server, "\($0)") }
      await self.play(with: PostAPI(baseURL: try await server.start()), server: server, transcript: transcript)
      await server.stop()
    }
    guard transcript.close() else {
      throw ExitCode.failure
    }
  }

  private func play(with api: PostAPI, server: PostServer?, transcript: Transcript) async {
    let owner = server == nil ? "a server of yours" : "a server in this process"
    transcript.say(.note, "posts are to come from \(api.baseURL), \(owner)")
    do {
      let postCount = try await api.page(limit: 1, skip: 0).total
      transcript.say(.note, "there are \(postCount) of them")
      await Story.quickstart.play(on: Stage(transcript: transcript, api: api, server: server, postCount: postCount))
    } catch {
      transcript.fail("it does not serve posts: \(error.inWords)")
    }
  }
}
