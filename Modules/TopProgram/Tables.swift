internal import OperationPlatform
internal import OperationTop

/// The stores as tables, one after the other, for a pipe or a file.
struct Tables {
  let session: TopSession
  let settings: TopSettings

  func write() throws(LoopbackError) {
    var left = self.settings.count ?? .max
    while !self.session.model.isReady { try self.session.read() }
    while left > 0 {
      self.session.advance(to: currentDate())
      let screen = TopScreen(width: 120, height: 0)
      say(screen.plainLines(self.session.model, self.settings.view).joined(separator: "\n") + "\n")
      left -= 1
      if left > 0 { try self.waitForNext() }
    }
  }

  private func waitForNext() throws(LoopbackError) {
    say("\n")
    let end = currentDate() + self.settings.interval
    while case let rest = end - currentDate(), rest > 0 {
      if wait(for: [self.session.descriptor], milliseconds: Int(rest * 1000) + 1)[0] { try self.session.read() }
    }
  }
}
