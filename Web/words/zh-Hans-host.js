// Sentences of the host in Simplified Chinese, by their codes: `[sentence, hint]`. Only codes whose sentence never has a
// part of its own, as the name of a file; all else is shown as the host says it.

export const refusals = {
    audio_not_ready: ["当前模型听不了声音。", "请移除音频，或打开工具，把它当作文件处理。"],
    download_failed: ["下载失败。"],
    foreign_origin: ["其他网站的页面不能使用本程序。"],
    model_load_cancelled: ["其间选择了另一个模型。"],
    model_load_failed: ["无法加载模型。"],
    no_chats: ["这个文件里没有聊天。", "聊天文件就是“导出”得到的文件。"],
    nothing_to_branch: ["这个聊天没有可用来另起新聊天的消息。"],
    nothing_to_redo: ["没有可以恢复的内容。"],
    nothing_to_undo: ["这个聊天没有可以撤回的消息。"],
    request_timeout: ["请求没有及时到达。"],
    stopping: ["Alcove 正在停止。"],
    turn_running: ["正在回答这个聊天。", "请先停止回答。"],
    unauthorized: ["需要正在运行的 Alcove 的令牌。", "请打开程序启动时显示的链接。"],
    unknown_session: ["那个会话已经不在了。", "请重新打开聊天。"],
    chat_changed: ["这个聊天已经不是这里原来显示的样子；现在显示的是它的最新状态。", "如果仍然合适，请再做一次。"],
    unknown_turn: ["那次回答已经不在了。", "请重新打开聊天。"],
    unknown_upload: ["没有这个上传的文件。"],
    bad_path: ["请写完整路径，以 / 开头。", "相对路径对程序和对您可能是不同的文件夹。"],
    vision_not_ready: ["当前模型看不了图片。", "请移除图片，或打开工具，把它们当作文件处理。"],
};
