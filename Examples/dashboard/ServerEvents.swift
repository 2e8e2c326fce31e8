import PostService

/// What happens at the server and in the program while the dashboard runs, once a second in turn.
@MainActor
struct ServerEvents {
  let server: PostServer
  let model: DashboardModel

  func start() -> Task<Void, Never> {
    Task { @MainActor in
      var round = 0
      while (try? await Task.sleep(for: .seconds(1))) != nil {
        round += 1
        await self.perform(round)
      }
    }
  }

  private func perform(_ round: Int) async {
    switch round % 4 {
    case 1:
      self.server.archive.edit(id: 1) { $0.title = "Edited in round \(round)" }
    case 2:
      self.server.script.fail(next: 2, of: .post(id: 2))
    case 3:
      try? await self.model.loadMore()
    default:
      // The server refuses a title of blanks; the failure is what the row shows.
      try? await self.model.createPost(title: round % 8 == 0 ? " " : "Post of round \(round)")
    }
  }
}
