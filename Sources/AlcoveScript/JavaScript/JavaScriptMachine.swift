internal import AlcoveCore
#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// One engine with one global object, on the thread that makes it.
///
/// Not Sendable on purpose: everything happens on that thread, but for the watchdog's look at a `StopSignal`.
final class JavaScriptMachine {
    /// A function of the host's: gets its arguments, gives a value back (nil for undefined).
    typealias Native = (JavaScriptMachine, Arguments) throws -> JSValueRef?

    let group: JSContextGroupRef
    let context: JSGlobalContextRef
    private let nativeClass: JSClassRef
    private var watchdog: Watchdog?

    init() {
        group = JSContextGroupCreate()
        context = JSGlobalContextCreateInGroup(group, nil)
        var definition = JSClassDefinition()
        definition.callAsFunction = { context, function, _, count, arguments, exception in
            guard let data = JSObjectGetPrivate(function) else { return nil }
            let native = Unmanaged<NativeFunction>.fromOpaque(data).takeUnretainedValue()
            return native.call(Arguments(first: arguments, count: count), exception)
        }
        definition.finalize = { function in
            if let data = JSObjectGetPrivate(function) { Unmanaged<NativeFunction>.fromOpaque(data).release() }
        }
        nativeClass = JSClassCreate(&definition)
    }

    deinit {
        JSGlobalContextRelease(context)
        JSContextGroupRelease(group)
        JSClassRelease(nativeClass)
    }

    /// What a native function was called with.
    struct Arguments {
        let first: UnsafePointer<JSValueRef?>?
        let count: Int

        subscript(index: Int) -> JSValueRef? { index < count ? first?[index] ?? nil : nil }
    }

    /// A fault of the host's that the program sees as an error with these properties.
    struct Fault: Error {
        var message: String
        var properties: [(name: String, value: String)] = []
        var number: Int?
    }

    /// A value that was thrown.
    ///
    /// Unchecked: it never leaves the machine's thread; errors have to be Sendable.
    struct Thrown: Error, @unchecked Sendable { let value: JSValueRef }

    // MARK: Running

    /// Runs a source and gives its last value back.
    func evaluate(_ source: String, name: String) throws -> JSValueRef? {
        try evaluate(text: jsString(source), name: name)
    }

    /// Runs a file of the library.
    ///
    /// - Parameter source: UTF-8, ended by a zero: read by the engine itself, which is quicker than by way of a `String`.
    func evaluate(library source: UnsafePointer<CChar>, name: String) throws -> JSValueRef? {
        try evaluate(text: JSStringCreateWithUTF8CString(source), name: name)
    }

    private func evaluate(text: JSStringRef, name: String) throws -> JSValueRef? {
        let url = jsString(name)
        defer {
            JSStringRelease(text)
            JSStringRelease(url)
        }
        var thrown: JSValueRef?
        let value = JSEvaluateScript(context, text, nil, url, 1, &thrown)
        if let thrown { throw Thrown(value: thrown) }
        return value
    }

    @discardableResult
    func call(_ function: JSValueRef?, _ arguments: [JSValueRef?]) throws -> JSValueRef? {
        guard let function, let object = JSValueToObject(context, function, nil) else { return nil }
        var thrown: JSValueRef?
        let value = JSObjectCallAsFunction(context, object, nil, arguments.count, arguments, &thrown)
        if let thrown { throw Thrown(value: thrown) }
        return value
    }

    // MARK: Values out

    func text(_ value: JSValueRef?) -> String {
        guard let value, let string = JSValueToStringCopy(context, value, nil) else { return "" }
        defer { JSStringRelease(string) }
        let count = JSStringGetLength(string)
        guard count > 0, let letters = JSStringGetCharactersPtr(string) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: letters, count: count), as: UTF16.self)
    }

    func number(_ value: JSValueRef?) -> Double { value.map { JSValueToNumber(context, $0, nil) } ?? .nan }

    /// A whole number from 0 up; what is not one is `fallback`.
    func count(_ value: JSValueRef?, fallback: Int = 0) -> Int {
        let number = number(value)
        return number >= 0 && number < 9e15 ? Int(number) : fallback
    }

    func isTrue(_ value: JSValueRef?) -> Bool { value.map { JSValueToBoolean(context, $0) } ?? false }

    /// The bytes of a typed array; a text's are those of its UTF-8.
    func bytes(_ value: JSValueRef?) -> [UInt8] {
        guard let value else { return [] }
        guard JSValueIsObject(context, value), let object = JSValueToObject(context, value, nil),
            JSValueGetTypedArrayType(context, value, nil) != kJSTypedArrayTypeNone
        else { return Array(text(value).utf8) }
        let count = JSObjectGetTypedArrayByteLength(context, object, nil)
        let start = JSObjectGetTypedArrayByteOffset(context, object, nil)
        guard count > 0, let pointer = JSObjectGetTypedArrayBytesPtr(context, object, nil) else { return [] }
        return Array(UnsafeRawBufferPointer(start: pointer + start, count: count))
    }

    func property(_ object: JSValueRef?, _ name: String) -> JSValueRef? {
        guard let object, let place = JSValueToObject(context, object, nil) else { return nil }
        let key = jsString(name)
        defer { JSStringRelease(key) }
        return JSObjectGetProperty(context, place, key, nil)
    }

    // MARK: Values in

    var undefined: JSValueRef? { JSValueMakeUndefined(context) }

    /// What was made since a mark. The engine looks for values on the stack only, and lists of them lie elsewhere.
    private var kept: [JSValueRef] = []

    private func keep(_ value: JSValueRef?) -> JSValueRef? {
        if let value {
            JSValueProtect(context, value)
            kept.append(value)
        }
        return value
    }

    fileprivate var mark: Int { kept.count }

    fileprivate func letGo(downTo mark: Int) {
        while kept.count > mark { JSValueUnprotect(context, kept.removeLast()) }
    }

    func make(_ text: String) -> JSValueRef? {
        let string = jsString(text)
        defer { JSStringRelease(string) }
        return keep(JSValueMakeString(context, string))
    }

    func make(_ number: Double) -> JSValueRef? { JSValueMakeNumber(context, number) }
    func make(_ isTrue: Bool) -> JSValueRef? { JSValueMakeBoolean(context, isTrue) }

    func make(_ bytes: [UInt8]) -> JSValueRef? {
        guard let array = JSObjectMakeTypedArray(context, kJSTypedArrayTypeUint8Array, bytes.count, nil) else {
            return nil
        }
        if !bytes.isEmpty, let pointer = JSObjectGetTypedArrayBytesPtr(context, array, nil) {
            bytes.withUnsafeBytes { pointer.copyMemory(from: $0.baseAddress!, byteCount: bytes.count) }
        }
        return keep(array)
    }

    func make(_ list: [JSValueRef?]) -> JSValueRef? { keep(JSObjectMakeArray(context, list.count, list, nil)) }

    func make(_ members: [(String, JSValueRef?)]) -> JSObjectRef {
        let object: JSObjectRef = JSObjectMake(context, nil, nil)
        for (name, value) in members { set(object, name, value) }
        _ = keep(object)
        return object
    }

    func set(_ object: JSObjectRef, _ name: String, _ value: JSValueRef?, isHidden: Bool = false) {
        let key = jsString(name)
        defer { JSStringRelease(key) }
        let how = isHidden ? JSPropertyAttributes(kJSPropertyAttributeDontEnum) : 0
        JSObjectSetProperty(context, object, key, value ?? JSValueMakeUndefined(context), how, nil)
    }

    func function(_ body: @escaping Native) -> JSObjectRef {
        let native = NativeFunction(self, body)
        let object: JSObjectRef = JSObjectMake(context, nativeClass, Unmanaged.passRetained(native).toOpaque())
        _ = keep(object)
        return object
    }

    func error(_ fault: Fault) -> JSValueRef? {
        var message = make(fault.message)
        guard let error = JSObjectMakeError(context, 1, &message, nil) else { return message }
        if let number = fault.number { set(error, "errno", make(Double(number))) }
        for (name, value) in fault.properties { set(error, name, make(value)) }
        return error
    }

    private func jsString(_ text: String) -> JSStringRef {
        let letters = Array(text.utf16)
        return JSStringCreateWithCharacters(letters, letters.count)
    }

    // MARK: Limits

    /// Looks every 20 ms of the engine's time whether the program should end.
    ///
    /// Only a loop is ended so; an endless chain of promises starts anew each time and has to be killed from outside.
    func watch(_ shouldEnd: @escaping () -> Bool) {
        #if canImport(CJavaScriptCore)
        let watchdog = Watchdog(group: group, shouldEnd: shouldEnd)
        self.watchdog = watchdog
        watchdog.arm()
        #endif
    }

    func onRejection(_ function: JSValueRef?) {
        #if canImport(CJavaScriptCore)
        guard let function, let object = JSValueToObject(context, function, nil) else { return }
        JSGlobalContextSetUnhandledRejectionCallback(context, object, nil)
        #endif
    }
}

#if canImport(CJavaScriptCore)
private final class Watchdog {
    static let every = 0.02
    private let group: JSContextGroupRef
    private let shouldEnd: () -> Bool

    init(group: JSContextGroupRef, shouldEnd: @escaping () -> Bool) {
        self.group = group
        self.shouldEnd = shouldEnd
    }

    func arm() {
        JSContextGroupSetExecutionTimeLimit(
            group, Watchdog.every,
            { _, info in
                guard let info else { return true }
                let watchdog = Unmanaged<Watchdog>.fromOpaque(info).takeUnretainedValue()
                if watchdog.shouldEnd() { return true }
                // A limit that let the program go on is spent.
                watchdog.arm()
                return false
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
#else
private final class Watchdog {}
#endif

/// A function of the host's, kept by the engine.
private final class NativeFunction {
    /// The machine outlives its functions: it releases the context that holds them.
    private unowned let machine: JavaScriptMachine
    private let body: JavaScriptMachine.Native

    init(_ machine: JavaScriptMachine, _ body: @escaping JavaScriptMachine.Native) {
        self.machine = machine
        self.body = body
    }

    func call(
        _ arguments: JavaScriptMachine.Arguments, _ exception: UnsafeMutablePointer<JSValueRef?>?
    ) -> JSValueRef? {
        let mark = machine.mark
        defer { machine.letGo(downTo: mark) }
        do {
            return try body(machine, arguments) ?? machine.undefined
        } catch let fault as JavaScriptMachine.Fault {
            exception?.pointee = machine.error(fault)
        } catch let thrown as JavaScriptMachine.Thrown {
            exception?.pointee = thrown.value
        } catch {
            let words = (error as? any UserFacingError)?.sentence ?? "\(error)"
            exception?.pointee = machine.error(.init(message: words))
        }
        return machine.undefined
    }
}
