// swift-format-ignore-file: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
// The names are those of C.

// <pthread.h>, whose declarations have annotations for null: a thread is a pointer, and a destructor gets one that is not null.

public struct _opaque_pthread_t {}

public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias pthread_key_t = UInt

public func pthread_self() -> pthread_t { leftOut() }

public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { leftOut() }

@discardableResult
public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 { leftOut() }

@discardableResult
public func pthread_key_create(
  _ key: UnsafeMutablePointer<pthread_key_t>,
  _ destructor: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 { leftOut() }

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
