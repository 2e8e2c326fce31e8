/// Calls a closure when it is released.
package final class ReleaseCallback: Sendable {
  private let onRelease: @Sendable () -> Void

  package init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit { self.onRelease() }

  /// Does nothing: a closure that calls it retains the object.
  package func touch() {}
}
