internal import Dispatch

extension MainActor {
  /// Whether the current code runs on the queue of the main actor.
  ///
  /// `isIsolatingCurrentContext` is always false for the main actor on Linux. So a value is set on the main queue,
  /// which only code on that queue reads.
  nonisolated static var isCurrent: Bool {
    DispatchQueue.getSpecific(key: self.markerOfMainQueue) != nil
  }

  private static nonisolated let markerOfMainQueue = {
    let marker = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: marker, value: true)
    return marker
  }()
}
