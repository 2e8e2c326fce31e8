@usableFromInline
package enum CurrentThread {
  /// An identifier of the current thread that is unique among living threads; never 0.
  // Inlinable, because each use of a store asks for it.
  @inlinable
  package static var identifier: UInt {
    #if canImport(Glibc) || canImport(Android)
      UInt(pthread_self())
    #elseif canImport(Musl) || canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      // A system without threads.
      1
    #endif
  }
}
