import ArgumentParser
import Foundation
import Operation
import PostService

@main
struct Quickstart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quickstart",
    abstract: "Tells what operations do, over real HTTP, against a server that fails on purpose."
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
    let account = Account()
    TimeLimit.start(seconds: self.timeLimit, account: account)
    // What the library has to complain about is the story's mistake.
    OperationWarning.reporter = { account.fail("the library warns: \($0)") }
    account.title("What operations do, told while they do it over HTTP: seconds, who, what.")
    if let baseURL = self.baseURL {
      await self.play(with: PostAPI(baseURL: baseURL), server: nil, account: account)
    } else {
      let server = PostServer(archive: try PostArchive.bundled()) { account.say(.server, "\($0)") }
      await self.play(with: PostAPI(baseURL: try await server.start()), server: server, account: account)
      await server.stop()
    }
    guard account.close() else {
      throw ExitCode.failure
    }
  }

  private func play(with api: PostAPI, server: PostServer?, account: Account) async {
    let owner = server == nil ? "a server of yours" : "a server in this process"
    account.say(.note, "posts are to come from \(api.baseURL), \(owner)")
    do {
      let postCount = try await api.page(limit: 1, skip: 0).total
      account.say(.note, "there are \(postCount) of them")
      await Story.quickstart.play(on: Stage(account: account, api: api, server: server, postCount: postCount))
    } catch {
      account.fail("it does not serve posts: \(error.inWords)")
    }
  }
}
