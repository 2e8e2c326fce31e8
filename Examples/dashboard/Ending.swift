import Dispatch
import Foundation

/// The end of the program: an interrupt, or a time.
@MainActor
final class Ending {
  private let seconds: Double?
  private var source: (any DispatchSourceSignal)?
  private var continuation: CheckedContinuation<Void, Never>?
  private var hasEnded = false

  init(after seconds: Double?) {
    self.seconds = seconds
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    source.setEventHandler { MainActor.assumeIsolated { self.end() } }
    source.activate()
    self.source = source
  }

  func wait() async {
    if let seconds {
      Task { @MainActor in
        try? await Task.sleep(for: .seconds(seconds))
        self.end()
      }
    }
    if !self.hasEnded { await withCheckedContinuation { self.continuation = $0 } }
    self.source?.cancel()
    self.source = nil
  }

  private func end() {
    self.hasEnded = true
    self.continuation?.resume()
    self.continuation = nil
  }
}
