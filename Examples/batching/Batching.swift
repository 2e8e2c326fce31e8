import ArgumentParser
import Operation
import PostService

@main
struct Batching: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batching",
    abstract: "Loads pages of posts and the author of each: with a request for each row, then with a batcher."
  )

  func run() async throws {
    let report = Report()
    // A warning of the library is a mistake of the example.
    OperationWarning.reporter = { report.check("the library warns: \($0)", false) }
    let asked = AskedAuthors()
    let server = PostServer(archive: try .bundled()) { asked.record($0) }
    let api = PostAPI(baseURL: try await server.start())

    let plain = try await self.loadOneByOne(api)
    let pageCount = (plain.count + FeedQuery.pageSize - 1) / FeedQuery.pageSize
    report.check("a request for each row", server.log.total, equals: pageCount + plain.count)

    asked.removeAll()
    let screen = Screen(blog: Blog(api: api))
    var rows: [Row] = []
    while screen.hasNextPage {
      server.log.removeAll()
      let known = Set(rows.map(\.author.id))
      let page = try await screen.loadNextPage()
      rows += page
      let new = Set(page.map(\.author.id)).subtracting(known)
      let text = "\(page.count) rows with \(new.count) authors that are new"
      report.check(text, server.log.total, equals: new.isEmpty ? 1 : 2)
    }
    report.check("the rows are the same", rows == plain)
    report.check("authors are asked for once each", asked.ids.count, equals: Set(rows.map(\.author.id)).count)

    try await self.loadTwoScreens(api, server, report, asked)
    await server.stop()
    guard report.wrongCount == 0 else { throw ExitCode.failure }
  }

  /// The *n+1 problem*: one request for a page, and one for each of its rows.
  private func loadOneByOne(_ api: PostAPI) async throws -> [Row] {
    var rows: [Row] = []
    while true {
      let page = try await api.page(limit: FeedQuery.pageSize, skip: rows.count)
      for post in page.posts {
        rows.append(Row(post: post, author: try await api.author(id: post.userId)))
      }
      if rows.count >= page.total { return rows }
    }
  }

  /// Two screens that ask at the same time share the request for the page and the batch.
  private func loadTwoScreens(
    _ api: PostAPI,
    _ server: PostServer,
    _ report: Report,
    _ asked: AskedAuthors
  ) async throws {
    server.log.removeAll()
    asked.removeAll()
    let blog = Blog(api: api)
    let rows = try await withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addImmediateTask { try await Screen(blog: blog).loadNextPage() }
      }
      return try await group.reduce(into: [[Row]]()) { $0.append($1) }
    }
    report.check("two screens show the same rows", rows[0] == rows[1] && rows[0].count == FeedQuery.pageSize)
    report.check("two screens at the same time", server.log.total, equals: 2)
    report.check("each author of the two screens is asked for once", asked.ids.count, equals: Set(asked.ids).count)
  }
}
