internal import OperationPlatform
internal import OperationTop

/// The terminal of the program, whose keys are read one by one.
final class Terminal {
  private let saved: termios

  /// Nil if the standard input or output is no terminal.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return nil }
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    self.saved = settings
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
  }

  /// The columns and rows of now; 80 by 24 if the terminal does not say.
  private var screen: TopScreen {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
    return isKnown ? TopScreen(width: Int(size.ws_col), height: Int(size.ws_row)) : TopScreen(width: 80, height: 24)
  }

  /// Shows the stores until `q` is pressed.
  func show(_ session: TopSession, _ first: TopView) throws(LoopbackError) {
    var view = first
    var problem = ""
    say(TopScreen.opening)
    defer {
      say(TopScreen.closing)
      var settings = self.saved
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
    while true {
      session.advance(to: currentDate())
      let screen = self.screen
      view.adjust(session.model.sorted(by: view.order, filter: view.filter), height: screen.listHeight)
      say(TopScreen.sequence(of: screen.lines(session.model, view, connection: problem)))
      // Also without a message: ages change, and so may the size of the terminal.
      let isGone = !problem.isEmpty
      let ready = wait(for: isGone ? [STDIN_FILENO] : [STDIN_FILENO, session.descriptor], milliseconds: 250)
      if !isGone, ready[1] {
        do { try session.read() } catch { problem = error.description }
      }
      if ready[0], self.press(&view, session, screen) { return }
    }
  }

  /// Reads keys and does what they say.
  ///
  /// - Returns: Whether `q` was pressed.
  private func press(_ view: inout TopView, _ session: TopSession, _ screen: TopScreen) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else { return true }
    for key in TopKey.keys(in: Array(buffer[..<count])) {
      let entries = session.model.sorted(by: view.order, filter: view.filter)
      do {
        switch view.press(key, entries, height: screen.listHeight) {
        case .quit: return true
        case .explain(let id): view.show(try session.explanation(of: id))
        case .invalidate(let id):
          try session.perform("invalidate", store: id)
          view.message = "invalidated"
        case .refetch(let id):
          try session.perform("refetch", store: id)
          view.message = "fetches"
        case nil: break
        }
      } catch {
        view.message = "\(error)"
      }
    }
    return false
  }
}
